import type { DataSourceOptions } from 'typeorm';

export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

/**
 * `requests` ends statements that take too long; `maintenance`, such as a migration, takes its time. Both wait for a
 * database that is not there yet. An operator wants to hear of that at once: `command`, a short transaction beside a
 * running service, has the limit of requests; `inspection`, which only looks, has none.
 */
export type Purpose = 'requests' | 'command' | 'maintenance' | 'inspection';
