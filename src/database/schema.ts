import type { DataSourceOptions } from 'typeorm';

export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

/**
 * `requests` have statement limits, `maintenance` (migrations) has none; `inspection` only reads, also beside
 * a running service.
 */
export type Purpose = 'requests' | 'maintenance' | 'inspection';
