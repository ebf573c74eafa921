import { stat } from 'node:fs/promises';
import { Controller, Get } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Operators } from '../access/access.decorators.js';
import { KeyRing, scheduleOf } from '../auth/tokens/signing-keys.js';
import { Env, VERSION } from '../config/env.js';
import { engineOf } from '../database/database.module.js';
import { isSchemaNewer } from '../database/migrate.js';
import { ReadinessService } from '../health/readiness.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { ApiProblems } from '../openapi/decorators.js';
import { ServiceStatus } from './operators.responses.js';
import { keyView } from './views.js';

@Controller('api/operators/status')
export class StatusController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly readiness: ReadinessService,
    private readonly mails: MailsRepository,
    private readonly ring: KeyRing,
    private readonly env: Env,
  ) {}

  /**
   * Get the installation's status
   *
   * @remarks Returns the version, the database, the signing keys, the number of emails that wait or failed, and what
   * `GET /health/ready` returns.
   */
  @Get()
  @Operators()
  @ApiProblems({ code: 'unavailable', detail: 'The database cannot be reached.' })
  async adminGetStatus(): Promise<ServiceStatus> {
    const { keys: keySets, ...readiness } = await this.readiness.read();
    const now = Date.now();
    const [engine, isNewer, keysChangedAt, { waiting = 0, failed = 0 }] = await Promise.all([
      engineOf(this.dataSource),
      isSchemaNewer(this.dataSource),
      stat(this.env.jwtKeysFile).then(
        ({ mtimeMs }) => mtimeMs,
        // The keys stay in use while their file is missing.
        () => now,
      ),
      this.mails.countByState(),
    ]);
    const latest = this.dataSource.migrations.at(-1)!;
    return {
      ...readiness,
      keySets,
      version: VERSION,
      engine,
      schema: { migration: latest.name ?? latest.constructor.name, state: isNewer ? 'newer' : 'current' },
      keys: scheduleOf(this.ring.all, now, keysChangedAt).map(keyView),
      mails: { waiting, failed },
    };
  }
}
