import { readFileSync } from 'node:fs';

// What Linux counts process time in, whatever the kernel's own tick (USER_HZ).
const TICKS_PER_SECOND = 100;

/** Processor time of all threads of the process so far; undefined where there is no /proc. */
export function cpuMs(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The program's name may hold spaces; what is counted stands after it: utime and stime are fields 14 and 15.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000;
}

/** Resident memory of the process; undefined where there is no /proc. */
export function residentMib(pid: number): number | undefined {
  const kib = /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
