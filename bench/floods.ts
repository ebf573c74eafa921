import type { Flood } from './load/flood.ts';
import type { Plan } from './plan.ts';
import { progress } from './progress.ts';
import { inTurn } from './rounds.ts';
import { type SideName, SIDES } from './servers/contenders.ts';
import type { LoadDriver } from './servers/load-driver.ts';

export type Floods = Record<SideName, Flood[]>;

export async function runFloods(plan: Plan, driver: LoadDriver): Promise<Floods> {
  const floods: Floods = { service: [], baseline: [] };
  for (let round = 0; round < plan.floodRounds; round += 1) {
    progress(`login flood ${round + 1} of ${plan.floodRounds}`);
    for (const side of inTurn(SIDES, round))
      floods[side].push(await driver.flood(side, plan.connections, plan.floodMs));
  }
  return floods;
}

/** How long the floods take, with some time for the report. */
export function floodsMs({ floodRounds, floodMs }: Plan): number {
  return floodRounds * SIDES.length * 4 * floodMs + 5000;
}
