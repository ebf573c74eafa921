import { accountOperations } from './account-operations.ts';
import type { DrivableName, Operation } from './call.ts';
import { invitationOperations } from './invitation-operations.ts';
import { memberOperations } from './member-operations.ts';
import { mix } from './mix.ts';
import { readOperations } from './read-operations.ts';
import type { Side } from './side.ts';

export function operationsOf(side: Side): Record<DrivableName, Operation> {
  const single = {
    ...accountOperations(side),
    ...readOperations(side),
    ...memberOperations(side),
    ...invitationOperations(side),
  };
  return { ...single, mix: mix(side, single) };
}
