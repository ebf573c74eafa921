import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anInstallation, type Installation } from '../support/installation.js';
import { exitCode, type ServiceProcess, spawnCommand, untilListening } from '../support/service-process.js';

const ROOT = resolve(import.meta.dirname, '../..');
const BUILD_AND_START_TIMEOUT_MS = 120_000;
const SOURCES = ['package.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'src'];

describe('SIGTERM to npm', () => {
  let installation: Installation;
  let project: string;
  let npm: ServiceProcess | undefined;

  beforeEach(async () => {
    installation = await anInstallation();
    // A copy, as `npm start` rebuilds `dist`, from which other tests run.
    project = await mkdtemp(join(tmpdir(), 'accounts-project-'));
    for (const name of SOURCES) await cp(join(ROOT, name), join(project, name), { recursive: true });
    await cp(join(ROOT, 'dist'), join(project, 'dist'), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  });
  afterEach(async () => {
    const pid = npm && servicePid(npm);
    if (pid !== undefined && isRunning(pid)) process.kill(pid, 'SIGKILL');
    npm?.child.kill('SIGKILL');
    await installation.remove();
    await rm(project, { recursive: true, force: true });
  });

  it.each(['start', 'start:prod'])(
    'stops the service, then npm: npm run %s',
    async (script) => {
      npm = spawnCommand(['npm', 'run', script], project, installation.env);
      const url = await untilListening(npm, BUILD_AND_START_TIMEOUT_MS);
      const pid = servicePid(npm)!;

      npm.child.kill('SIGTERM');

      expect(await exitCode(npm), npm.logs.join('\n')).toBe(0);
      expect(npm.logs.join('\n')).toContain('"signal":"SIGTERM"');
      expect(isRunning(pid)).toBe(false);
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    },
    150_000,
  );
});

function servicePid({ logs }: ServiceProcess): number | undefined {
  const pid = /"msg":"listening".*"pid":(\d+)/.exec(logs.join('\n'))?.[1];
  return pid === undefined ? undefined : Number(pid);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
