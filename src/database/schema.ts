import type { DataSourceOptions } from 'typeorm';

export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

/**
 * `requests` ends statements that take too long, and so does `command`, a short transaction beside a running service;
 * `maintenance`, such as a migration, takes its time, and so does `inspection`, which only looks and may do so beside a
 * running service.
 */
export type Purpose = 'requests' | 'command' | 'maintenance' | 'inspection';
