import { isSchemaUpToDate } from '../../database/schema-version.js';
import { type Check, EXAMPLES } from './check.js';

export const SCHEMA_CHECKS: Check[] = [
  {
    claim: 'every migration of this version has run',
    remedy: 'Start the service once with MIGRATIONS=run.',
    async findFaults({ dataSource }) {
      return (await isSchemaUpToDate(dataSource)) ? [] : ['migrations are pending'];
    },
  },
  {
    claim: 'the tables are as the migrations made them',
    remedy: 'Somebody changed the schema by hand. The statements shown restore it.',
    async findFaults({ dataSource }) {
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      return upQueries.slice(0, EXAMPLES).map(({ query }) => query);
    },
  },
];
