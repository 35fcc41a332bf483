-- $1 what was written before (microseconds). Of a table that is all but empty, so no index is kept for this.
DELETE FROM drafts WHERE written_us < $1;
