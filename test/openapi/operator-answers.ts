import { makeOperator, anOperator } from '../support/operators.js';
import { anAccount, anUnknownId } from '../support/personas.js';
import type { Service } from '../support/service.js';
import type { ExampleAnswers } from './example-answers.js';

/** Gets answered what operators ask, before anybody is there whom the other examples are about. */
export async function collectOperatorAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const operator = await anOperator(service);
  const { id: userId } = await anAccount(service);
  const withoutFactor = await anAccount(service);
  await makeOperator(service, withoutFactor);

  for (const id of examples.operationsOf('Operators')) {
    await examples.send(id, { by: withoutFactor });
  }
  for (const id of examples.operationsOf('Operators', true)) {
    await examples.send(id, { by: operator, body: {} });
  }
  for (const id of ['enableUser']) {
    await examples.send(id, { by: operator, path: { userId } });
    await examples.send(id, { by: operator, path: { userId: anUnknownId() } });
    await examples.send(id, { by: operator, path: { userId: operator.id } });
  }
}
