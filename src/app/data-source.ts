import { loadEnv } from '../config/load-env.js';
import { createDataSource } from '../database/create-data-source.js';
import { dataSourceOptions } from '../database/data-source-options.js';
import { SCHEMA } from './schema.js';

/** The TypeORM command line opens this data source itself. */
export default createDataSource(await dataSourceOptions(loadEnv(), SCHEMA, 'maintenance'));
