import { Logger } from '@nestjs/common';
import type { Logger as TypeOrmLogger } from 'typeorm';

/** Takes the place of TypeORM's own logger, which prints the parameters too: e-mails and password hashes. */
export class SlowQueryLog implements TypeOrmLogger {
  private readonly logger = new Logger('Database');

  logQuerySlow(milliseconds: number, query: string): void {
    this.logger.warn({ msg: 'slow query', milliseconds, query });
  }

  logQuery(): void {}
  logQueryError(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
