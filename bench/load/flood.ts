import { login } from './account-operations.ts';
import { cycle } from './cycle.ts';
import { drive, probe } from './drive.ts';
import type { Measured } from './measure.ts';
import type { Operation } from './call.ts';
import { me } from './read-operations.ts';
import type { Side } from './side.ts';

/** `GET /api/me` alone, and while clients log in without pause, and those logins. */
export interface FloodHalf {
  alone: Measured;
  flooded: Measured;
  logins: Measured;
}

export interface Flood {
  /** a few requests at a steady pace, on a server that has next to nothing else to do */
  steady: FloodHalf;
  /** as many as the server answers */
  saturated: FloodHalf;
}

const CLIENTS = 16;
const PROBES = 4;
const PROBE_INTERVAL_MS = 5;

export async function flood(
  side: Side,
  { connections, durationMs }: { connections: number; durationMs: number },
): Promise<Flood> {
  const { readers, readerOrgs, fillers } = side.fixture;
  const reading = cycle(readers.map((reader) => me(reader, readerOrgs, side.tokenOf(reader))));
  const nextFiller = cycle(fillers);
  const loggingIn: Operation = () => login(nextFiller(), () => undefined);

  const steadily = (): Promise<Measured> =>
    probe(side.url, reading, { connections: PROBES, durationMs, intervalMs: PROBE_INTERVAL_MS });
  const saturating = (): Promise<Measured> => drive(side.url, reading, { connections, durationMs });
  const flooding = (): Promise<Measured> => drive(side.url, loggingIn, { connections: CLIENTS, durationMs });

  const half = async (read: () => Promise<Measured>): Promise<FloodHalf> => {
    const alone = await read();
    const [flooded, logins] = await Promise.all([read(), flooding()]);
    return { alone, flooded, logins };
  };
  return { steady: await half(steadily), saturated: await half(saturating) };
}
