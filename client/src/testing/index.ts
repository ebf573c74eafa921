export {
  type FakeCaller,
  type FakeEvent,
  fakeGuard,
  type FakeGuard,
  type FakeKey,
  type FakeLogin,
  type FakeOptions,
  type FakeUser,
  type MadeKey,
} from './fake-guard.ts';
export { startAccounts, type RunningAccounts, type StartOptions } from './start-accounts.ts';
