-- Nothing is to be prepared here.
SELECT 1;
