// For the TypeORM command line: npm run build && npx typeorm migration:show -d ormconfig.ts
import { migrationDataSource } from '#schema';

export default await migrationDataSource();
