import { answerCommands } from '../commands.ts';
import { login, refreshableLogin } from './account-operations.ts';
import { callForEach, drive } from './drive.ts';
import { type Flood, flood } from './flood.ts';
import type { Measured } from './measure.ts';
import type { DrivableName, Operation } from './call.ts';
import { operationsOf } from './operations.ts';
import type { Command } from './protocol.ts';
import { Side } from './side.ts';

// One process makes the load for both sides, so that neither gets a warmer driver.
const sides = new Map<string, { side: Side; operations: Record<DrivableName, Operation> }>();

answerCommands(execute, describe);

async function execute(command: Command): Promise<Measured | Flood | null> {
  if (command.type === 'open') {
    const side = new Side(command.url, command.fixture);
    sides.set(command.side, { side, operations: operationsOf(side) });
    await logInAll(side);
    return null;
  }
  const { side, operations } = sides.get(command.side)!;
  return command.type === 'flood'
    ? flood(side, command)
    : drive(side.url, operations[command.operation], command);
}

async function logInAll(side: Side): Promise<void> {
  const { readers, keepers, creators } = side.fixture;
  await callForEach(side.url, [...readers, ...keepers, ...creators], (user) =>
    login(user, (token) => side.keepToken(user, token)),
  );
  await callForEach(side.url, readers, (user) => refreshableLogin(user, side));
}

function describe(command: Command): string {
  return `${command.side}, ${command.type === 'drive' ? command.operation : command.type}`;
}
