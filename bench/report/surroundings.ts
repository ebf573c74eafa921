import { availableParallelism, cpus, totalmem } from 'node:os';
import { digits, grouped } from './table.ts';

export interface Surroundings {
  date: string;
  machine: { cores: number; processor: string; memoryGib: number; system: string };
  node: string;
  database: string;
  hashEngine: string;
  quick: boolean;
  /** users besides those who are measured */
  crowd: number;
  /** share of the processors that other programs used meanwhile */
  foreignLoad: number | undefined;
}

const TOLERABLE_FOREIGN_LOAD = 0.05;

export function surroundings(
  known: Pick<Surroundings, 'database' | 'hashEngine' | 'quick' | 'crowd' | 'foreignLoad'>,
): Surroundings {
  const { database, hashEngine, quick, crowd, foreignLoad } = known;
  return {
    date: new Date().toISOString(),
    machine: {
      cores: availableParallelism(),
      processor: cpus()[0]?.model.trim() ?? '',
      memoryGib: Math.round(totalmem() / 2 ** 30),
      system: `${process.platform} ${process.arch}`,
    },
    node: process.version,
    database,
    hashEngine,
    quick,
    crowd,
    foreignLoad,
  };
}

/** Two lines, the second to be continued. */
export function whereAndWhen({ date, machine, node, database, hashEngine }: Surroundings): [string, string] {
  return [
    `${date.slice(0, 10)}, ${machine.cores} cores (${machine.processor}), ${machine.memoryGib} GiB,`,
    `${machine.system}, Node ${node}, ${database}, ${hashEngine}.`,
  ];
}

/** As `whereAndWhen`, with how the rounds went; to be continued. */
export function howItWasDriven(
  where: Surroundings,
  { connections, rounds, phaseMs }: { connections: number; rounds: number; phaseMs: number },
): string[] {
  const [first, second] = whereAndWhen(where);
  return [
    first,
    `${second} ${connections} keep-alive`,
    `connections, ${rounds} rounds of ${phaseMs} ms${where.quick ? ' (quick)' : ''}. Figures are medians of the`,
  ];
}

export function remarks({ crowd, foreignLoad }: Surroundings): string[] {
  return [
    ...(crowd > 0 ? [`Besides those who are measured, ${grouped(crowd)} users.`] : []),
    ...(foreignLoad === undefined || foreignLoad < TOLERABLE_FOREIGN_LOAD
      ? []
      : [
          `**Other programs used ${digits(foreignLoad * 100, 0)} % of the processors over the whole run: repeat it on a quiet machine.**`,
        ]),
  ];
}
