import type { SecondFactorState } from '../auth/second-factor/own-second-factor.service.js';
import type { RecoveryCodesResult, SecondFactorResult } from './own-account.responses.js';

export function secondFactorResult({ enabledAt, recoveryCodesLeft }: SecondFactorState): SecondFactorResult {
  return {
    enabled: enabledAt !== null,
    enabledAt: enabledAt === null ? null : new Date(enabledAt).toISOString(),
    recoveryCodesLeft,
  };
}

export function recoveryCodesResult(recoveryCodes: string[]): RecoveryCodesResult {
  return { recoveryCodes };
}
