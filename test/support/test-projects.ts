import type { Engine } from './engine.js';

/** A wait inside a test ends earlier, and says what it was for. */
const HANG_TIMEOUT_MS = 300_000;

const timeouts = { testTimeout: HANG_TIMEOUT_MS, hookTimeout: HANG_TIMEOUT_MS };

export const unitTests = {
  ...timeouts,
  name: 'unit',
  // A fresh worker for each file would load the same modules again and again. The specs share no state.
  isolate: false,
  include: ['{src,tooling,client,test/auth,test/histories,test/logins,test/reference}/**/*.spec.ts'],
};

/** What operators do and see, and what the docs tell to run: nearly every test starts processes, which takes most of its time. */
const OPERATIONS = ['test/{cli,config,mail,metrics,operations,pages,tracing}/**/*.e2e-spec.ts'];

const CLIENT = 'test/client/**/*.e2e-spec.ts';

/** Neither tables nor transactions decide what these test, so they run on SQLite only. */
const WITHOUT_TABLES = [
  'test/auth/{breached-passwords,tokens}.e2e-spec.ts',
  'test/cli/{config-connect,usage}.e2e-spec.ts',
  'test/config/{environment,start-up-errors}.e2e-spec.ts',
  'test/http/{access,routes}.e2e-spec.ts',
  'test/members/access-matrix.e2e-spec.ts',
  'test/mail/{languages,smtp}.e2e-spec.ts',
  'test/metrics/alerts.e2e-spec.ts',
  'test/openapi/{caller-documents,docs-page,document,examples}.e2e-spec.ts',
  'test/operators/access.e2e-spec.ts',
  'test/operations/{bundle,kubernetes,npm-scripts,proxies,untrusted-proxy}.e2e-spec.ts',
  'test/pages/*.e2e-spec.ts',
  'test/providers/{id-tokens,outgoing-requests,recorded-providers}.e2e-spec.ts',
  'test/services/service-requests.e2e-spec.ts',
  'test/rate-limits/{account-limit,change-limits,full-queue,limits}.e2e-spec.ts',
];
const notOn = (engine: Engine): string[] => (engine === 'sqlite' ? [] : WITHOUT_TABLES);

/** The built service over HTTP, on one engine. */
export function httpTestsOn(engine: Engine) {
  return {
    ...testsOn(engine),
    name: engine,
    include: ['test/**/*.e2e-spec.ts'],
    exclude: ['test/faults/**', ...OPERATIONS, CLIENT, ...notOn(engine)],
  };
}

/** The client and the kit against the running service; for them alone, `unit` has tests of theirs. */
export function clientTests() {
  return { ...testsOn('sqlite'), name: 'client', include: [CLIENT] };
}

/** The built service as operators run it, on one engine. */
export function operationsTestsOn(engine: Engine) {
  return {
    ...testsOn(engine),
    name: `operations-${engine}`,
    include: OPERATIONS,
    exclude: notOn(engine),
  };
}

export function testsOn(engine: Engine) {
  return {
    ...timeouts,
    // A fresh worker for each file would cost more than most files do; the state of these is in other processes.
    isolate: false,
    provide: { engine },
    // The hooks of the last one run first.
    setupFiles: ['test/support/check-statements.ts', 'test/support/setup-file.ts'],
    globalSetup: [
      'test/support/build-setup.ts',
      'test/support/statements-setup.ts',
      ...(engine === 'mariadb' ? ['test/support/mariadb-setup.ts'] : []),
      'test/support/shared-services.ts',
    ],
  };
}
