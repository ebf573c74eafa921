import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { anInstallation } from '../support/installation.js';
import { anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { exitCode, spawnCommand, untilListening } from '../support/service-process.js';

const PROJECT = resolve(import.meta.dirname, '../..');
const DIST = join(PROJECT, 'dist');
const OUTSIDE = ['@node-rs/argon2', 'argon2', 'bcrypt'];

it('needs no package but native ones', async () => {
  const installation = await anInstallation();
  const { directory, env } = installation;
  await cp(DIST, join(directory, 'dist'), { recursive: true });
  await cp(join(PROJECT, 'package.json'), join(directory, 'package.json'));
  for (const name of OUTSIDE) {
    const link = join(directory, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(PROJECT, 'node_modules', name), link);
  }

  const service = spawnCommand([process.execPath, join(directory, 'dist/main.js')], directory, env);
  const url = await untilListening(service);
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  expect((await fetch(`${url}/docs`)).status).toBe(200);
  service.kill('SIGTERM');
  expect(await exitCode(service)).toBe(0);
  const list = [process.execPath, join(directory, 'dist/cli/main.js'), 'users', 'list'] as const;
  expect(await exitCode(spawnCommand(list, directory, env))).toBe(0);
  await installation.remove();
});

it('has the licenses of all packages in it', async () => {
  const chunks = (await readdir(join(DIST, 'chunks'))).filter((name) => name.endsWith('.js'));
  const code = await Promise.all(chunks.map((name) => readFile(join(DIST, 'chunks', name), 'utf8')));
  const region = /^\t*\/\/(?:#region)? node_modules\/(?:.*node_modules\/)?((?:@[^/]+\/)?[^/]+)/gm;
  const packages = new Set([...code.join('\n').matchAll(region)].map(([, name]) => name!));
  const licenses = await readFile(join(DIST, 'licenses.txt'), 'utf8');
  const named = [...licenses.matchAll(/^((?:@\S+\/)?[^\s/]+) \d+\.\d+\.\d+\S* \(.+\)$/gm)].map(
    ([, name]) => name!,
  );
  expect(packages).toContain('typeorm');
  expect(new Set(named)).toEqual(packages.add('swagger-ui-dist'));
  const ofFastify = await readFile(join(PROJECT, 'node_modules/fastify/LICENSE'), 'utf8');
  expect(licenses).toContain(ofFastify.trim());
});

it('loads oauth4webapi only for logins at providers', async () => {
  const names = (await readdir(join(DIST, 'chunks'))).filter((name) => name.endsWith('.js'));
  const chunks = await Promise.all(
    names.map(async (name) => ({ name, code: await readFile(join(DIST, 'chunks', name), 'utf8') })),
  );
  const loading = chunks.filter(({ code }) => code.includes('node_modules/oauth4webapi/'));
  expect(loading).toHaveLength(1);
  for (const { name } of loading)
    loading.push(
      ...chunks.filter((chunk) => chunk.code.includes(` from "./${name}"`) && !loading.includes(chunk)),
    );
  const files = loading.flatMap(
    ({ code }) => code.match(/^\t*\/\/(?:#region)? (?:node_modules|build|src)\/.+/gm) ?? [],
  );
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !file.includes(' node_modules/oauth4webapi/'))).toEqual([]);
});

it('names the source file and line of each call in the stack of an error', async () => {
  const service = await startOwnService();
  const ada = await anAccount(service);
  await service.db.query('ALTER TABLE sessions RENAME TO hidden');
  expect((await ada.get('/api/me')).status).toBe(500);
  const { err } = JSON.parse(service.logs.find((log) => log.includes('"stack"'))!) as {
    err: { stack: string };
  };
  const frames = [...err.stack.matchAll(/at (?:\w+\.)?(\w+) \((src\/[\w./-]+\.ts):(\d+):\d+\)/g)];
  const calls = frames.slice(1).map(([, , file, line], index) => ({
    called: frames[index]![1]!,
    source: readFileSync(join(PROJECT, file!), 'utf8').split('\n')[Number(line) - 1],
  }));
  expect(calls.filter(({ called, source }) => source?.includes(`${called}(`)).length).toBeGreaterThan(1);
  await service.stop();
});
