import { residentMib } from '../../tooling/processes/usage.ts';
import type { Fixture } from '../fixture/fixture.ts';
import { type Contenders, type SideName, SIDES } from './contenders.ts';
import type { HttpServer } from './http-server.ts';

/** Both servers, running, each on a database of its own with the same rows. */
export interface Stage extends Contenders<SideName> {
  database: string;
  fixture: Fixture;
  /** resident memory in MiB before the load, after a while of nothing to do */
  atRest: Record<SideName, number | undefined>;
}

/** Resident memory in MiB. */
export function residentOf(servers: Record<SideName, HttpServer>): Record<SideName, number | undefined> {
  const [service, baseline] = SIDES.map((side) => residentMib(servers[side].pids()));
  return { service, baseline };
}
