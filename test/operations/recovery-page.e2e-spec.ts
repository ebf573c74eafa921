import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { requireProgram } from '../../tooling/processes/find-program.js';
import { MariaDbServer } from '../../tooling/servers/mariadb.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { snippetsIn } from '../pages/support/page-program.js';
import { accounts, accountsJson, CLI, environmentOf, failure } from '../support/accounts-command.js';
import { Authority } from '../support/certificates.js';
import { existingDatabase } from '../support/database.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccount, anOrgOf, isAlive } from '../support/personas.js';
import { startOwnService } from '../support/service.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/recovery.md'), 'utf8');
const SNIPPETS = snippetsIn(PAGE, 'sh');
const snippetWith = (text: string): string => SNIPPETS.find((snippet) => snippet.includes(text))!;
const UNLIMITED = { RATE_LIMIT_REGISTER: 'off' };

/** Programs that the page calls, and that a test cannot run: each is a script. */
function programs(scripts: Record<string, string>): string {
  const directory = temporaryDirectory('programs');
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${directory}${delimiter}${process.env['PATH']}`;
}

function run(script: string, cwd: string, env: Record<string, string>): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', script], {
    cwd,
    env: { ...environmentOf(env), ...env },
    encoding: 'utf8',
  });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const COMMAND = `exec ${process.execPath} ${CLI} "$@"`;
/** Only root may give files away. */
const asOneUser = (script: string): string => script.replaceAll(/ -o \w+ -g \w+/g, '');

describe('docs/recovery.md', () => {
  it.runIf(engine === 'sqlite')('restores SQLite with systemd', async () => {
    const installation = await anInstallation();
    const { directory } = installation;
    const service = await startOwnService({ installation });
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    await accountsJson(installation, ['backup', join(directory, 'backup-2026-11-28.sqlite')]);
    copyFileSync(installation.env['JWT_KEYS_FILE']!, join(directory, 'jwks-2026-11-28.json'));
    await anOrgOf(owner, 'Lost');
    await service.stop();
    writeFileSync(join(directory, 'accounts.sqlite'), 'damaged');

    const script = asOneUser(snippetWith('accounts.sqlite'))
      .replace(/mariadb -e .*\n/, '')
      .replaceAll('/var/lib/accounts-events', directory)
      .replaceAll(/\/var\/lib\/accounts|\/root/g, directory)
      .replace(/--since \S+/, '');
    const PATH = programs({ systemctl: '', accounts: COMMAND });
    const said = run(script, directory, { ...installation.env, PATH });

    expect(said).toContain('every session of');
    const restored = await startOwnService({ installation });
    expect(await isAlive(owner.at(restored))).toBe(false);
    const found = await accountsJson<{ id: string }>(installation, ['orgs', 'list']);
    expect(found.map(({ id }) => id)).toEqual([org.id]);
    await restored.stop();
    await installation.remove();
  });

  it('has a Job for the restore on Kubernetes, made from the Job that migrates', () => {
    const [sed] = /^sed .*deploy\/kubernetes\.yaml/m.exec(snippetWith('accounts-restore'))!;
    const { stdout } = spawnSync('sh', ['-euc', sed], { cwd: ROOT, encoding: 'utf8' });
    const label = 'app.kubernetes.io/name';
    const chosen = parseAllDocuments(stdout)
      .map((document) => document.toJS() as { kind: string; metadata: { name: string; labels: object } })
      .filter(({ metadata }) => (metadata.labels as Record<string, string>)[label] === 'accounts-restore');
    expect(chosen).toMatchObject([
      {
        kind: 'Job',
        metadata: { name: 'accounts-restore' },
        spec: { template: { spec: { containers: [{ args: ['sleep', '8h'] }] } } },
      },
    ]);
  });
});

describe.runIf(engine === 'mariadb')('docs/recovery.md with MariaDB', () => {
  let server: MariaDbServer;
  let installation: Installation;
  let certificates: { ca: string; certificate: string; key: string };
  const directory = temporaryDirectory('recovery');
  const shown = { certificate: join(directory, 'server.pem'), key: join(directory, 'server.key') };
  const password = 'a password of "MariaDB"';

  beforeAll(async () => {
    const [ours, theirs] = await Promise.all([Authority.create('ours'), Authority.create('theirs')]);
    const own = await ours.issue('IP:127.0.0.1');
    certificates = { ca: ours.certificate, ...(await theirs.issue('IP:127.0.0.1')) };
    copyFileSync(own.certificate, shown.certificate);
    copyFileSync(own.key, shown.key);
    const tls = [`--ssl-cert=${shown.certificate}`, `--ssl-key=${shown.key}`];
    server = await MariaDbServer.start({ args: ['--log-bin=binlog', '--sync-binlog=1', ...tls] });
    for (const sql of [
      'CREATE DATABASE accounts',
      `CREATE USER accounts@'%' IDENTIFIED BY '${password}'`,
      "GRANT ALL ON accounts.* TO accounts@'%'",
    ])
      await server.execute(sql);
    // The clients of root, without a password, as on the machine of the database.
    const client = `[client]\nuser=root\nhost=127.0.0.1\nport=${server.port}\nprotocol=tcp\n`;
    writeFileSync(join(directory, '.my.cnf'), client);
    const url = `mysql://accounts:${encodeURIComponent(password)}@127.0.0.1:${server.port}/accounts`;
    const other = await anInstallation();
    installation = {
      ...other,
      db: existingDatabase(directory, `mysql://root@127.0.0.1:${server.port}/accounts`),
      env: { ...other.env, DATABASE_URL: url },
    };
  });
  afterAll(async () => {
    await installation.remove();
    await server.close();
  });

  const shell = (script: string, env = {}) => run(script, directory, { HOME: directory, ...env });
  const here = (script: string): string =>
    script
      .replaceAll('/root', directory)
      .replaceAll('/var/lib/mysql', join(server.directory, 'data'))
      .replaceAll('2026-11-28', 'a-day');

  it('recovers to a moment before a mistake, with the binary log', async () => {
    let service = await startOwnService({ installation, env: UNLIMITED });
    const ada = await anAccount(service);
    const [dumping] = /(?<=`)umask 077; mariadb-dump [^`]+/.exec(PAGE)!;
    shell(here(dumping));
    const grace = await anAccount(service);
    const org = await anOrgOf(grace);
    const momentMs = Math.ceil((Date.now() + 1) / 1000) * 1000;
    await waitFor('the moment is over', hangTimeoutMs(), () => Date.now() >= momentMs);
    await installation.db.query("UPDATE orgs SET name = 'A mistake'");
    await installation.db.force('DELETE FROM users');
    await service.stop();

    const dump = readFileSync(join(directory, 'backup-a-day.sql'), 'utf8');
    const [, file = '', position = ''] = /MASTER_LOG_FILE='(.*)', MASTER_LOG_POS=(\d+);/.exec(dump)!;
    const moment = shell(`date -d @${momentMs / 1000} '+%F %T'`).trim();
    const script = here(snippetWith('binlog.000008'))
      .replace('--start-position=1234', `--start-position=${position}`)
      .replace('2026-11-29 09:30:00', moment)
      .replace('binlog.000007 binlog.000008', `$(ls binlog.0* | sed -n '/${file}/,$p')`);
    expect(shell(script)).toContain(`MASTER_LOG_FILE='${file}', MASTER_LOG_POS=${position}`);

    service = await startOwnService({ installation });
    for (const account of [ada, grace]) expect(await isAlive(account.at(service))).toBe(true);
    expect(await grace.at(service).get(`/api/orgs/${org.id}`)).toMatchObject({
      body: { org: { name: org.name } },
    });
    expect((await accounts(installation, ['doctor'])).code).toBe(0);
    await service.stop();
  });

  it('restores with Compose what its nightly job has backed up', async () => {
    let service = await startOwnService({ installation, env: UNLIMITED });
    const owner = await anAccount(service);
    const database = `MARIADB_USER=accounts MARIADB_PASSWORD='${password}'`;
    const PATH = programs({
      docker: `case $2 in
        exec) shift 4; exec env ${database} "$@" ;;
        run) shift 6; ${COMMAND} ;;
        esac`,
    });
    const env = { ...installation.env, PATH };
    const [cron] = /(?<= root cd \/opt\/accounts && ).*exec mariadb-dump.*/.exec(
      readFileSync(join(ROOT, 'docs/deploy-compose.md'), 'utf8'),
    )!;
    const date = 'date() { echo a-day; }';
    expect(shell(`${date}\n${here(cron.replaceAll(String.raw`\%`, '%'))}`, env)).toBe('');
    const lost = await anAccount(service);
    await service.stop();
    mkdirSync(join(directory, 'secrets/keys'), { recursive: true });
    copyFileSync(installation.env['JWT_KEYS_FILE']!, join(directory, 'jwks-a-day.json'));

    const said = shell(asOneUser(here(snippetWith('docker compose stop'))), env);

    expect(said).toContain('every session of');
    expect(readdirSync(join(directory, 'secrets/keys'))).toEqual(['jwks.json']);
    service = await startOwnService({ installation });
    const emails = await installation.db.query('SELECT email FROM users');
    expect(emails).toContainEqual({ email: owner.email });
    expect(emails).not.toContainEqual({ email: lost.email });
    await service.stop();
  });

  it.each([
    ['verify', true, 'ssl-mode=VERIFY_IDENTITY'],
    ['required', true, 'ssl-mode=VERIFY_CA'],
    ['required', false, 'ssl-mode=REQUIRED'],
  ])('tells mysqldump what to verify: %s, with a CA: %s', async (mode, hasAuthority, line) => {
    const seen = join(directory, 'seen');
    const version = 'mysqldump  Ver 8.4.6 for Linux on x86_64 (MySQL Community Server - GPL)';
    const env = {
      DATABASE_SSL: mode,
      DATABASE_SSL_CA: hasAuthority ? certificates.ca : undefined,
      PATH: programs({
        'mariadb-dump': `if [ "$1" = --version ]; then echo '${version}'; else cat /dev/fd/3 /dev/fd/4 >${seen}; fi`,
      }),
    };
    await accounts(installation, ['backup', join(directory, 'told.sql')], { env });
    const told = readFileSync(seen, 'utf8');
    expect(told).toContain(`\n${line}\n`);
    expect(told.includes('ssl-ca=/dev/fd/4')).toBe(hasAuthority);
    expect(told.includes(readFileSync(certificates.ca, 'utf8'))).toBe(hasAuthority);
  });

  it('verifies the certificate of the server in the dump, too', async () => {
    const env = { DATABASE_SSL: 'verify', DATABASE_SSL_CA: certificates.ca };
    const backup = (name: string, more = {}) =>
      accounts(installation, ['backup', join(directory, name)], { env: { ...env, ...more } });
    expect((await backup('verified.sql')).code).toBe(0);

    // Between the connection of Accounts and that of the program, another server takes the place.
    const [certificate, key] = [certificates.certificate, certificates.key];
    const PATH = programs({
      'mariadb-dump': `if [ "$1" != --version ]; then
          cp ${certificate} ${shown.certificate}; cp ${key} ${shown.key}
          ${requireProgram('mariadb')} --defaults-file=${join(directory, '.my.cnf')} --skip-ssl -e 'FLUSH SSL'
        fi
        exec ${requireProgram('mariadb-dump')} "$@"`,
    });
    expect(await backup('refused.sql', { PATH })).toEqual(
      failure(1, /^refused: [^\n]*TLS\/SSL error[^\n]*\n$/),
    );
    expect(readdirSync(directory)).not.toContain('refused.sql');
  });
});
