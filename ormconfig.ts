// For the TypeORM command line: npm run build && npx typeorm migration:show -d ormconfig.ts
import dataSource from './dist/app/data-source.js';

export default dataSource;
