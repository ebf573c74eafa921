import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { CLI, environmentOf, type Place } from './accounts-command.js';
import { COMPILE_CACHE, type Environment, RECORDING } from './service-process.js';

let terminals = 0;

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A command on a pseudo-terminal, which `script` of util-linux opens. Its standard output is a file. */
export class Terminal {
  /** everything that the terminal has shown */
  shown = '';

  private constructor(
    private readonly script: ReturnType<typeof spawn>,
    private readonly files: Record<'out' | 'pid', string>,
  ) {
    script.stdout!.setEncoding('utf8').on('data', (text: string) => (this.shown += text));
  }

  static open(
    place: Place,
    parameters: readonly string[],
    options: { columns?: number; env?: Environment } = {},
  ): Terminal {
    const command = [process.execPath, ...RECORDING, CLI, ...parameters].map(quoted).join(' ');
    return Terminal.run(place, (out) => `${command} > ${out}`, options);
  }

  /** @param command of the shell, by the file to which it may write what shall not be shown */
  static run(
    { directory, env: ofInstallation }: Place,
    command: (out: string) => string,
    { columns = 100, env = {} }: { columns?: number; env?: Environment } = {},
  ): Terminal {
    terminals += 1;
    const files = { out: join(directory, `out-${terminals}`), pid: join(directory, `pid-${terminals}`) };
    const shell = `stty columns ${columns}; echo $$ > ${quoted(files.pid)}; exec ${command(quoted(files.out))}`;
    const script = spawn('script', ['--quiet', '--return', '--command', shell, '/dev/null'], {
      cwd: directory,
      env: { ...COMPILE_CACHE, ...environmentOf({ ...ofInstallation, ...env }), SHELL: '/bin/sh' },
      stdio: 'pipe',
    });
    return new Terminal(script, files);
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    let found: RegExpExecArray | null = null;
    await waitFor(
      `the terminal shows ${pattern}, after ${JSON.stringify(this.shown)}`,
      hangTimeoutMs(),
      () => {
        found = pattern.exec(this.shown);
        return found !== null;
      },
    );
    return found!;
  }

  type(text: string): void {
    this.script.stdin!.write(text);
  }

  /** Closes the window: the system hangs up, and the command has ended afterwards. */
  async close(): Promise<void> {
    const pid = Number(await readFile(this.files.pid, 'utf8'));
    this.script.kill('SIGKILL');
    await waitFor('the command has ended', hangTimeoutMs(), () => !isRunning(pid));
  }

  async result(): Promise<{ code: number | null; stdout: string }> {
    if (this.script.exitCode === null) await once(this.script, 'close');
    return { code: this.script.exitCode, stdout: await readFile(this.files.out, 'utf8') };
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
