import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, Index, PrimaryColumn, type Repository } from 'typeorm';
import type { Transaction } from '../database/transactions/transactions.js';
import { acceptsApiKeys } from './service-secrets.js';

/** Rows stay, so that the epoch of a call only grows. No foreign keys: Galera does not certify what they do. */
@Entity('service_calls')
@Index('service_calls_callee_idx', ['callee', 'caller'])
export class ServiceCall {
  @PrimaryColumn({ type: 'varchar', length: 40 }) caller: string;
  @PrimaryColumn({ type: 'varchar', length: 40 }) callee: string;

  /** how often the call was revoked */
  @Column({ type: 'integer', default: 0 }) epoch: number;
  @Column({ name: 'allowed_at', type: 'bigint', nullable: true }) allowedAt: number | null;
}

export type Call = Pick<ServiceCall, 'caller' | 'callee'>;

interface CallState {
  callerEpoch: number;
  /** of the call and its callee */
  rest: number;
  /** scopes of the callee */
  allow: string;
}

interface Neighbours {
  calls: string[];
  calledBy: string[];
}

@Injectable()
export class ServiceCallsRepository {
  constructor(@InjectRepository(ServiceCall) private readonly serviceCalls: Repository<ServiceCall>) {}

  /**
   * Returns for each call of a way numbers that grow when it, its caller or its callee ends, or undefined if the call is
   * not allowed now. Equal sums mean that nothing on the way has ended in between.
   */
  async findStates(way: readonly string[]): Promise<(CallState | undefined)[]> {
    const calls = callsOf(way);
    const sql = `SELECT c.caller, c.callee, f.epoch AS callerEpoch, c.epoch + t.epoch AS rest, t.allow
        FROM service_calls c
        JOIN services f ON f.name = c.caller AND f.disabled_at IS NULL
        JOIN services t ON t.name = c.callee AND t.disabled_at IS NULL
      WHERE c.allowed_at IS NOT NULL AND (${calls.map(() => '(c.caller = ? AND c.callee = ?)').join(' OR ')})`;
    const values = calls.flatMap(({ caller, callee }) => [caller, callee]);
    const rows = await this.serviceCalls.query<(Call & CallState)[]>(sql, values);
    return calls.map(({ caller, callee }) =>
      rows.find((row) => row.caller === caller && row.callee === callee),
    );
  }

  async findNeighbours(name: string): Promise<Neighbours> {
    const called = `SELECT c.callee AS name FROM service_calls c
        JOIN services t ON t.name = c.callee AND t.removed_at IS NULL
      WHERE c.caller = ? AND c.allowed_at IS NOT NULL ORDER BY c.callee`;
    const calling = `SELECT c.caller AS name FROM service_calls c
        JOIN services f ON f.name = c.caller AND f.removed_at IS NULL
      WHERE c.callee = ? AND c.allowed_at IS NOT NULL ORDER BY c.caller`;
    const [calls, calledBy] = await Promise.all(
      [called, calling].map(async (sql) => {
        const rows = await this.serviceCalls.query<{ name: string }[]>(sql, [name]);
        return rows.map((row) => row.name);
      }),
    );
    return { calls: calls!, calledBy: calledBy! };
  }

  /** Returns false if the call is allowed already. Lock the caller first. */
  async allow(tx: Transaction, call: Call, allowedAt: number): Promise<boolean> {
    const known = await tx.of(this.serviceCalls).findOneBy(call);
    if (known && known.allowedAt !== null) return false;
    if (known) await tx.of(this.serviceCalls).update(call, { allowedAt });
    else await tx.of(this.serviceCalls).insert({ ...call, allowedAt });
    return true;
  }

  /** Returns false if the call is not allowed. */
  async revoke(tx: Transaction, { caller, callee }: Call): Promise<boolean> {
    const sql = `UPDATE service_calls SET allowed_at = NULL, epoch = epoch + 1
      WHERE caller = ? AND callee = ? AND allowed_at IS NOT NULL`;
    return (await tx.write(sql, [caller, callee])) === 1;
  }
}

function callsOf(way: readonly string[]): Call[] {
  return way.slice(1).map((callee, index) => ({ caller: way[index]!, callee }));
}

/** Returns undefined if a call is not allowed. */
export function stateOfWay(states: readonly (CallState | undefined)[]): number | undefined {
  let sum = 0;
  for (const state of states) {
    if (state === undefined) return undefined;
    sum += state.callerEpoch + state.rest;
  }
  return sum;
}

/** Whether the last service of a way accepts API keys. */
export function acceptsKeys(states: readonly (CallState | undefined)[]): boolean {
  return acceptsApiKeys(states.at(-1)?.allow ?? '');
}
