/**
 * SQL for the time of the database in epoch milliseconds. It decides where the clocks of two instances must not: they may
 * differ by minutes, and an instance reads its clock before its statement waits for a connection and for row locks.
 */
export const NOW_MS = 'CAST(ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000) AS SIGNED)';
