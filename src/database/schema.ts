import type { DataSourceOptions } from 'typeorm';

export type Schema = Pick<DataSourceOptions, 'entities' | 'migrations'>;

// `requests` and `maintenance`, such as a migration, wait for a database that is not there yet; with the other two an
// operator hears of that at once. `requests` and `command`, a short transaction beside a running service, limit the
// time of a statement; `maintenance` and `inspection`, which only looks, do not.
export type Purpose = 'requests' | 'command' | 'maintenance' | 'inspection';
