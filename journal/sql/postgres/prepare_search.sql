-- For this transaction: the index of words can only be used by a bitmap, and which way is best follows from what is asked.
SELECT set_config('enable_bitmapscan', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true);
