import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { IPodSpec } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readSettings } from '../../client/src/guard/settings.js';
import { parseEnv } from '../../src/config/env.js';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { snippetsIn } from '../pages/support/page-program.js';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Labels };
  data: Record<string, string>;
  spec: {
    selector: { matchLabels: Labels };
    template: { metadata: { labels: Labels }; spec: IPodSpec };
    ports: { name: string; targetPort: string }[];
    replicas: number;
    podSelector: { matchLabels: Labels };
    policyTypes: string[];
    rules: { http: { paths: { path: string; pathType: string; backend: object }[] } }[];
    ingress: { from?: { namespaceSelector?: { matchLabels: Labels } }[]; ports: { port: number }[] }[];
  };
}

type Labels = Record<string, string>;

interface Validator {
  (value: unknown): boolean;
  errors?: { instancePath: string; message?: string; keyword: string; params: object }[] | null;
}

const ROOT = resolve(import.meta.dirname, '../..');
/** docs/operate.md: on SIGTERM, Accounts exits within ten seconds. */
const STOP_SECONDS = 10;
const PORT = 3000;

const manifests = ['kubernetes', 'kubernetes-ingress', 'guard/kubernetes']
  .flatMap((file) => parseAllDocuments(readFileSync(join(ROOT, `deploy/${file}.yaml`), 'utf8')))
  .map((document) => document.toJS() as Manifest);
const find = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!;
const [deployment, job, config] = [find('Deployment'), find('Job'), find('ConfigMap')];
const guarded = manifests.at(-1)!;
const podsOf = ({ spec }: Manifest): IPodSpec => spec.template.spec;
const [pods, jobPods] = [podsOf(deployment), podsOf(job)];
const [container] = pods.containers;

/** The schemas are those of Kubernetes, and admit unknown properties: `unread` has those. */
async function validate(value: Manifest): Promise<{ errors: unknown[]; unread: string[] }> {
  const [group, version] = value.apiVersion.includes('/') ? value.apiVersion.split('/') : ['core', 'v1'];
  const name = ['IoK8sApi', group!.split('.')[0]!, version!, value.kind]
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join('');
  const { validate: check } = (await import(`kubernetes-models/_schemas/${name}`)) as { validate: Validator };
  const unread = new Set(pathsOf(value, ''));
  const isValid = check(readNoting(value, '', unread));
  return { errors: isValid ? [] : check.errors!, unread: [...unread] };
}

function pathsOf(value: object, path: string): string[] {
  const inner = Object.entries(value).map(([key, each]: [string, unknown]) => {
    const at = `${path}/${key}`;
    return [at].concat(typeof each === 'object' && each !== null ? pathsOf(each, at) : []);
  });
  return inner.flat();
}

/** Removes from `unread` what is read. */
function readNoting<T extends object>(value: T, path: string, unread: Set<string>): T {
  return new Proxy(value, {
    get(target, key) {
      const inner: unknown = Reflect.get(target, key);
      if (typeof key === 'symbol') return inner;
      const at = `${path}/${key}`;
      unread.delete(at);
      return typeof inner === 'object' && inner !== null ? readNoting(inner, at, unread) : inner;
    },
  });
}

describe('the manifests for Kubernetes', () => {
  it.each(manifests.map((manifest) => [manifest.kind, manifest]))(
    '%s meets its schema',
    async (_, manifest) => {
      expect(await validate(manifest)).toEqual({ errors: [], unread: [] });
    },
  );

  it.each([
    ['a wrong type', { replicas: 'three' }, { errors: 1, unread: 0 }],
    ['a misspelled property', { replica: 3 }, { errors: 0, unread: 1 }],
  ])('would not with %s', async (_, change, found) => {
    const { errors, unread } = await validate({
      ...deployment,
      spec: { ...deployment.spec, ...change } as never,
    });
    expect({ errors: errors.length, unread: unread.length }).toEqual(found);
  });

  it('belong together: labels, ports, volumes and images', () => {
    const labels = deployment.spec.template.metadata.labels;
    expect(find('Service').spec.selector).toEqual(labels);
    expect([deployment, find('PodDisruptionBudget')].map(({ spec }) => spec.selector.matchLabels)).toEqual([
      labels,
      labels,
    ]);
    expect(job.spec.template.metadata.labels).not.toEqual(labels);
    expect(container!.ports!.map(({ name, containerPort }) => [name, containerPort])).toEqual([
      ['http', PORT],
      ['metrics', Number(config.data['METRICS_PORT'])],
    ]);
    expect(find('Service').spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
    for (const { containers, volumes } of [pods, jobPods]) {
      expect(containers.map(({ image }) => image)).toEqual([container!.image]);
      expect(containers[0]!.volumeMounts!.map(({ name }) => name)).toEqual(volumes!.map(({ name }) => name));
    }
  });

  it('admit everybody to the API, and one namespace to the metrics', () => {
    const { podSelector, policyTypes, ingress } = find('NetworkPolicy').spec;
    expect(podSelector.matchLabels).toEqual(deployment.spec.template.metadata.labels);
    expect(policyTypes).toEqual(['Ingress']);
    const admitted = ingress.map(({ from, ports }) => [
      from?.map(({ namespaceSelector }) => Object.keys(namespaceSelector!.matchLabels)),
      ports.map(({ port }) => port),
    ]);
    expect(admitted).toEqual([
      [undefined, [PORT]],
      [[['kubernetes.io/metadata.name']], [Number(config.data['METRICS_PORT'])]],
    ]);
  });

  it('let the ingress pass on what is public, and nothing that is for the inside', () => {
    const { paths } = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as { paths: object };
    const passed = find('Ingress').spec.rules[0]!.http.paths;
    for (const { pathType, backend } of passed) {
      expect(pathType).toBe('Prefix');
      expect(backend).toEqual({ service: { name: 'accounts', port: { name: 'http' } } });
    }
    expect(find('Service').spec.ports.map(({ name }) => name)).toEqual(['http']);
    const isPassed = (path: string): boolean =>
      passed.some((prefix) => path === prefix.path || path.startsWith(`${prefix.path}/`));
    const inside = ['/api/operators', '/api/directory', '/api/events', '/api/memberships', '/health/ready'];
    const isInside = (path: string): boolean => inside.some((prefix) => path.startsWith(prefix));
    expect(Object.keys(paths).filter((path) => isPassed(path) === isInside(path))).toEqual([]);
    expect(['/docs', '/openapi.json', '/openapi/operators.json'].filter(isPassed)).toEqual([]);
  });

  it('confine both pods', () => {
    for (const spec of [pods, jobPods]) {
      expect(spec).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(spec.containers[0]).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        resources: { limits: { memory: expect.any(String) as string } },
      });
    }
  });

  it('give instances the time that they need to start, to be taken out, and to stop', () => {
    const { startupProbe, livenessProbe, readinessProbe, lifecycle } = container!;
    const { paths } = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as { paths: object };
    const probed = [startupProbe, livenessProbe, readinessProbe].map((probe) => String(probe!.httpGet!.path));
    expect(probed).toEqual(['/health/live', '/health/live', '/health/ready']);
    expect(probed.filter((path) => !(path in paths))).toEqual([]);
    const [, pause] = lifecycle!.preStop!.exec!.command!;
    expect(pods.terminationGracePeriodSeconds).toBeGreaterThan(Number(pause) + STOP_SECONDS);
    expect(deployment.spec.replicas).toBeGreaterThan(2);
  });

  it('start the sidecar of a service before it, confined, with settings that it accepts', () => {
    const { initContainers, containers, ...pod } = podsOf(guarded);
    const [sidecar] = initContainers!;
    expect(sidecar).toMatchObject({
      restartPolicy: 'Always',
      image: container!.image,
      args: ['accounts-guard'],
    });
    expect(pod).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false });
    const confined = { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
    expect([sidecar!, ...containers].map(({ securityContext }) => securityContext)).toEqual([
      expect.objectContaining(confined),
      expect.objectContaining(confined),
    ]);
    const directory = temporaryDirectory('kubernetes');
    writeFileSync(join(directory, 'secret'), 'acs_secret');
    const [mount] = sidecar!.volumeMounts!;
    const env = Object.fromEntries(
      sidecar!.env!.map(({ name, value }) => [name, value!.replace(mount!.mountPath, directory)]),
    );
    const settings = readSettings([], env);
    expect(settings).toMatchObject({ service: 'billing', listen: [{ host: '127.0.0.1', port: 9190 }] });
    expect(settings.secret()).toBe('acs_secret');
  });

  it('set variables that Accounts accepts in production', () => {
    const directory = temporaryDirectory('kubernetes');
    mkdirSync(join(directory, 'run/urls'), { recursive: true });
    const urls = {
      database: 'mysql://accounts:secret@db/accounts',
      redis: 'redis://redis',
      smtp: 'smtps://u:p@mail.example.com',
    };
    for (const [name, url] of Object.entries(urls))
      writeFileSync(join(directory, 'run/urls', name), url, { mode: 0o600 });
    const here = Object.entries(config.data).map(([name, value]) => [
      name,
      value.replace(/^\/run\//, `${directory}/run/`),
    ]);
    const env = parseEnv({ NODE_ENV: 'production', ...Object.fromEntries(here) });
    expect(env).toMatchObject({ jwtIssuer: config.data['JWT_ISSUER'], migrations: 'check', port: PORT });
  });
});

describe('the unit of the sidecar', () => {
  it('is confined as the unit of Accounts', () => {
    const [ours, theirs] = ['guard/accounts-guard', 'accounts'].map((unit) =>
      readFileSync(join(ROOT, `deploy/${unit}.service`), 'utf8').split('\n'),
    ) as [string[], string[]];
    const hardening = theirs.slice(theirs.indexOf('ProtectSystem=strict'), theirs.indexOf('[Install]'));
    const isSame = (line: string): boolean => ours.includes(line.replace(' AF_NETLINK', ''));
    expect(hardening.filter((line) => line !== '' && !line.startsWith('#') && !isSame(line))).toEqual([]);
    expect(ours).toEqual(expect.arrayContaining(['UMask=0077', 'RuntimeDirectory=accounts-guard']));
  });
});

/** Notes its arguments, and how readable the files are that it is given. It ends badly if `FAILS` is among them. */
const KUBECTL = `#!/bin/sh
echo "kubectl $*" >>"$NOTES"
for argument; do
  case $argument in --from-file=*) ls -l "\${argument#--from-file=}" | cut -c 1-10 >>"$NOTES" ;; esac
  [ "$argument" = "$FAILS" ] && exit 1
done
[ "$3" = exec ] && echo '{"keys":[]}'
exit 0
`;
const DOCKER = `#!/bin/sh
echo '{"keys":[]}'
`;

const guide = readFileSync(join(ROOT, 'docs/deploy-kubernetes.md'), 'utf8').replaceAll(/^ {3}/gm, '');
const [install, start, ingress, rotate] = snippetsIn(guide, 'sh');

describe('the commands of the guide for Kubernetes', () => {
  it.each([
    ['install', install, '', ['accounts-keys', 'accounts-urls']],
    ['install, and fail with the first Secret', install, 'accounts-keys', ['accounts-keys']],
    [
      'install, and fail with the second Secret',
      install,
      '--from-file=smtp',
      ['accounts-keys', 'accounts-urls'],
    ],
    ['rotate', rotate, '', ['accounts-keys', 'replace']],
    ['rotate, and fail in the pod', rotate, 'exec', []],
  ])('leave no secret on the disk of the administrator: %s', (_what, commands, fails, sent) => {
    const directory = temporaryDirectory('kubectl');
    const [bin, notes] = [join(directory, 'bin'), join(directory, 'notes')];
    mkdirSync(bin);
    for (const [name, script] of Object.entries({ kubectl: KUBECTL, docker: DOCKER }))
      writeFileSync(join(bin, name), script, { mode: 0o755 });
    for (const name of ['database', 'redis', 'smtp'])
      writeFileSync(join(directory, name), 'a secret', { mode: 0o600 });
    const env = { PATH: `${bin}:${process.env['PATH']}`, NOTES: notes, FAILS: fails };

    const { status } = spawnSync('sh', ['-c', `umask 022\n${commands}`], { cwd: directory, env });

    expect(status === 0).toBe(fails === '');
    const noted = readFileSync(notes, 'utf8');
    expect(['accounts-keys', 'accounts-urls', 'replace'].filter((word) => noted.includes(word))).toEqual(
      sent,
    );
    const modes = noted.split('\n').filter((line) => line.startsWith('-'));
    expect(modes.filter((mode) => mode !== '-rw-------')).toEqual([]);
    const left = readdirSync(directory).filter((name) => !['bin', 'notes'].includes(name));
    expect(left).toEqual(commands === install ? [] : ['database', 'redis', 'smtp']);
  });

  it('apply the file of the checkout', () => {
    expect(start).toContain('apply -f deploy/kubernetes.yaml');
    expect(ingress).toContain('apply -f deploy/kubernetes-ingress.yaml');
  });
});
