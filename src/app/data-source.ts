import { loadEnv } from '../config/env.js';
import { createDataSource, dataSourceOptions } from '../database/data-source.js';
import { SCHEMA } from './schema.js';

/** The TypeORM command line opens this data source itself. */
export default createDataSource(await dataSourceOptions(loadEnv(), SCHEMA, 'maintenance'));
