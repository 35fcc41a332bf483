-- $1 session id: before they are written anew.
DELETE FROM schedules WHERE session_id = $1 AND state <> 'ended';
