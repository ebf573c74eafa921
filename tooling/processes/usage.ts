import { readFileSync } from 'node:fs';

// What Linux counts process time in, whatever the kernel's own tick (USER_HZ).
const TICKS_PER_SECOND = 100;

/** The process and those that it started: a service of several workers is a supervisor and its children. */
export function withChildren(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`)?.match(/\d+/g) ?? [];
  return [pid, ...children.map(Number)];
}

/** Processor time of all threads of the processes so far; undefined where there is no /proc. */
export function cpuMs(pids: number[]): number | undefined {
  return sum(pids.map(cpuMsOfOne));
}

/** Resident memory of the processes together; undefined where there is no /proc. */
export function residentMib(pids: number[]): number | undefined {
  return sum(pids.map(residentMibOfOne));
}

/** The file names of the native modules and libraries that the process has loaded. */
export function loadedFiles(pid: number): string[] {
  const paths = read(`/proc/${pid}/maps`)?.match(/\/\S+$/gm) ?? [];
  return [...new Set(paths)];
}

function cpuMsOfOne(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The program's name may hold spaces; what is counted stands after it: utime and stime are fields 14 and 15.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000;
}

function residentMibOfOne(pid: number): number | undefined {
  const kib = /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

/** undefined of nothing, and where one is undefined */
function sum(values: (number | undefined)[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce<number | undefined>(
    (total, value) => (total === undefined || value === undefined ? undefined : total + value),
    0,
  );
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
