export {
  type FakeCaller,
  type FakeEvent,
  fakeGuard,
  type FakeGuard,
  type FakeLogin,
  type FakeOptions,
  type FakeUser,
} from './fake-guard.ts';
export { startAccounts, type RunningAccounts, type StartOptions } from './start-accounts.ts';
