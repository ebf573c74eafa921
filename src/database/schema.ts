import type { DataSourceOptions } from 'typeorm';

export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

/** Only `requests` have statement limits; `inspection` is read-only, also beside a running service. */
export type Purpose = 'requests' | 'maintenance' | 'inspection';
