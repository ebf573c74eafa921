import { loadEnv } from '../config/load-env.js';
import { createDataSource } from '../database/create-data-source.js';
import { dataSourceOptions } from '../database/data-source-options.js';
import { SCHEMA } from './schema.js';

/** For the TypeORM command line, which opens it itself. */
export default createDataSource(await dataSourceOptions(loadEnv(), SCHEMA, 'maintenance'));
