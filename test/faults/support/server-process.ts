import { spawn, type ChildProcess } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { waitFor } from '../../support/wait.js';

export interface Command {
  program: string;
  args: string[];
  /** Both or none: the user that the process runs as. */
  uid?: number | undefined;
  gid?: number | undefined;
}

const running = new Set<ChildProcess>();
const directories = new Set<string>();

// A test that dies must leave neither servers nor their files behind; test runners end their workers by SIGTERM.
process.once('exit', removeAll);
process.once('SIGTERM', () => process.exit(143));

function removeAll(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

/** One child process in a directory of its own, ended and frozen by its pid and nothing else. */
export class ServerProcess {
  readonly logFile: string;
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  readonly name: string;
  readonly directory: string;

  constructor(name: string, directory: string) {
    this.name = name;
    this.directory = directory;
    this.logFile = join(directory, 'server.log');
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get isRunning(): boolean {
    return this.child !== undefined;
  }

  launch(command: Command): void {
    if (this.child) throw new Error(`${this.name} is running already`);
    const log = openSync(this.logFile, 'a');
    const child = spawn(command.program, command.args, {
      stdio: ['ignore', log, log],
      ...(command.uid === undefined ? {} : { uid: command.uid, gid: command.gid }),
    });
    closeSync(log);
    running.add(child);
    this.child = child;
    this.ended = new Promise((resolve) => {
      const over = (): void => {
        running.delete(child);
        if (this.child === child) this.child = undefined;
        resolve();
      };
      child.once('error', over);
      child.once('exit', over);
    });
  }

  /** SIGKILL: what a crash or a power cut does. Resolves when the process is gone. */
  async kill(): Promise<void> {
    this.child?.kill('SIGKILL');
    await this.ended;
  }

  /** SIGTERM, and SIGKILL when it is not gone in time. Resolves when the process is gone. */
  async stop(timeoutMs = 20_000): Promise<void> {
    this.child?.kill('SIGCONT');
    this.child?.kill('SIGTERM');
    const child = this.child;
    const timer = setTimeout(() => child?.kill('SIGKILL'), timeoutMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** SIGSTOP: connections stay open, connects are accepted by the system, nothing is answered. */
  async freeze(): Promise<void> {
    this.child?.kill('SIGSTOP');
    await waitFor(`${this.name} stands still`, 5000, async () => this.standsStill(), 2);
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  // The signal reaches the threads one after the other: one that still runs may answer one more request.
  private standsStill(): boolean {
    const tasks = `/proc/${this.pid}/task`;
    if (!existsSync(tasks)) return true;
    return readdirSync(tasks).every((task) => / [Tt] /.test(readFileSync(join(tasks, task, 'stat'), 'utf8')));
  }

  /** Throws when the process has ended, with the end of its log. */
  assertRunning(): void {
    if (!this.child) throw new Error(`${this.name} has ended:\n${this.logTail()}`);
  }

  logTail(lines = 60): string {
    return existsSync(this.logFile)
      ? readFileSync(this.logFile, 'utf8').split('\n').slice(-lines).join('\n')
      : '';
  }
}

/** A new temporary directory, in memory when the system has such a place, removed at the end of this process. */
export function temporaryDirectory(prefix: string): string {
  const parent = isWritable('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(parent, `${prefix}-`));
  directories.add(directory);
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  directories.delete(directory);
}

/** The full path of a program; server programs stand in sbin directories that are not on every user's PATH. */
export function findProgram(...names: string[]): string {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  for (const name of names) {
    for (const place of places) {
      const file = join(place, name);
      if (isExecutable(file)) return file;
    }
  }
  throw new Error(`${names.join(' or ')} is not installed`);
}

function isWritable(path: string): boolean {
  return isAccessible(path, constants.W_OK);
}

function isExecutable(path: string): boolean {
  return isAccessible(path, constants.X_OK);
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
