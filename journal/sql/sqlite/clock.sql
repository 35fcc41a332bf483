-- Row: the store's time now, in microseconds (a function the driver registers; SQLite's own stops at 1 ms).
SELECT now_us();
