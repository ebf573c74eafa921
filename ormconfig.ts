// For the TypeORM command line: npm run build && npx typeorm migration:show -d ormconfig.ts
import dataSource from '#data-source';

export default dataSource;
