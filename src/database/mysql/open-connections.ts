import type { Pool } from 'mysql2';

export interface OpenConnections {
  idle: number;
  inUse: number;
}

/** mysql2 tells how many connections there are only in these private lists. */
interface ListedPool {
  _allConnections: { length: number };
  _freeConnections: { length: number };
}

export function countConnections(pools: Pool[]): OpenConnections {
  const listed = pools as unknown as ListedPool[];
  const open = sum(listed.map(({ _allConnections }) => _allConnections.length));
  const idle = sum(listed.map(({ _freeConnections }) => _freeConnections.length));
  return { idle, inUse: open - idle };
}

export function sumConnections(counts: OpenConnections[]): OpenConnections {
  return { idle: sum(counts.map(({ idle }) => idle)), inUse: sum(counts.map(({ inUse }) => inUse)) };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
