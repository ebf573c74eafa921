import { stat } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { KeyRing } from '../../auth/tokens/key-ring.js';
import { scheduleOf } from '../../auth/tokens/key-schedule.js';
import { Env } from '../../config/env.js';
import { VERSION } from '../../config/version.js';
import { engineOf } from '../../database/engine.js';
import { isSchemaNewer } from '../../database/schema-version.js';
import { ReadinessService } from '../../health/readiness.service.js';
import { MailListRepository } from '../../mail/mail-list.repository.js';
import type { KeyStatus, SchemaStatus, ServiceStatus } from './dto/status.responses.js';

@Injectable()
export class StatusService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly readiness: ReadinessService,
    private readonly mails: MailListRepository,
    private readonly ring: KeyRing,
    private readonly env: Env,
  ) {}

  /** @throws UnavailableError as the check of readiness does */
  async read(): Promise<ServiceStatus> {
    const readiness = await this.readiness.check();
    const [engine, schema, keys, waiting, failed] = await Promise.all([
      engineOf(this.dataSource),
      this.readSchema(),
      this.readKeys(),
      this.mails.count('waiting'),
      this.mails.count('failed'),
    ]);
    return { ...readiness, version: VERSION, engine, schema, keys, mails: { waiting, failed } };
  }

  private async readSchema(): Promise<SchemaStatus> {
    const latest = this.dataSource.migrations.at(-1)!;
    const isNewer = await isSchemaNewer(this.dataSource);
    return { migration: latest.name ?? latest.constructor.name, state: isNewer ? 'newer' : 'current' };
  }

  private async readKeys(): Promise<KeyStatus[]> {
    const now = Date.now();
    const changedAt = await stat(this.env.jwtKeysFile).then(
      ({ mtimeMs }) => mtimeMs,
      // The keys stay in use while their file is missing.
      () => now,
    );
    return scheduleOf(this.ring.all, now, changedAt).map(({ kid, state, signsFrom, signedUntil }) => ({
      kid,
      state,
      signsFrom: timeOrNull(signsFrom || undefined),
      signedUntil: timeOrNull(signedUntil),
    }));
  }
}

function timeOrNull(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : new Date(epochMs).toISOString();
}
