import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Actor } from '../../access/principal.js';
import { BATCH } from '../../database/statements.js';
import { Unchanged } from '../../database/transactions/transactions.js';
import { Problem } from '../../problems/problem.js';
import type { Org } from './org.entity.js';
import { OrgChanges, requirementEvent } from './org-changes.js';
import { OrgsRepository } from './orgs.repository.js';

/** For operators, because an organization can suspend all of its owners. */
@Injectable()
export class SecondFactorLift {
  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
  ) {}

  /** @throws org_not_found */
  async byOperator(
    orgId: string,
    actor: Actor,
  ): Promise<{ org: Pick<Org, 'id' | 'name'>; changed: boolean }> {
    const { answer } = await this.changes.inAnyOrg({ actor }, orgId, async (tx, org) => {
      if (!org) throw new Problem('org_not_found');
      const lifted = { org: { id: orgId, name: org.name }, changed: org.secondFactorFrom !== null };
      if (!lifted.changed) return new Unchanged(lifted);
      await this.orgs.requireSecondFactor(tx, orgId, null);
      await org.record(requirementEvent(null));
      return lifted;
    });
    return answer;
  }
}

/** The event follows within a second. */
const POLL_MS = 400;

/** Tells services that a requirement begins. */
@Injectable()
export class SecondFactorDue implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('Orgs');
  private readonly stopping = new AbortController();
  private polling: Promise<void> = Promise.resolve();
  private hasFailed = false;

  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
  ) {}

  start(): void {
    this.polling = this.poll();
  }

  beforeApplicationShutdown(): void {
    this.stopping.abort();
  }

  onApplicationShutdown(): Promise<void> {
    return this.polling;
  }

  /** Adds jitter, so that instances do not lock the same organization at once. */
  private async poll(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const pauseMs = POLL_MS * (0.75 + Math.random() / 2);
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (!signal.aborted) await this.recordAll();
    }
  }

  private async recordAll(): Promise<void> {
    try {
      for (let isFull = true; isFull && !this.stopping.signal.aborted;) {
        const due = await this.orgs.findFactorDue();
        let recorded = 0;
        for (const id of due) {
          if (this.stopping.signal.aborted) return;
          if (await this.record(id)) recorded += 1;
        }
        isFull = due.length === BATCH && recorded > 0;
      }
      this.hasFailed = false;
    } catch (err) {
      if (!this.hasFailed) this.logger.warn({ msg: 'cannot record required second factors; retrying', err });
      this.hasFailed = true;
    }
  }

  /** Decides again under the lock, so that one of several instances records the event. */
  private async record(orgId: string): Promise<boolean> {
    const { answer } = await this.changes.inAnyOrg({ actor: { kind: 'system' } }, orgId, async (tx, org) => {
      if (!org?.isFactorRequired || org.secondFactorDueAt === null)
        return new Unchanged({ isRecorded: false });
      await this.orgs.endFactorDue(tx, orgId);
      await org.record({ type: 'org.second_factor_due' });
      return { isRecorded: true };
    });
    return answer.isRecorded;
  }
}
