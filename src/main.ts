import { explainOldNode } from './node-version.js';

// Imported only after the check: an older Node cannot even load what the service imports.
const oldNode = explainOldNode();
if (oldNode !== undefined) {
  console.error(oldNode);
  process.exitCode = 1;
} else {
  const { bootstrap } = await import('./bootstrap.js');
  const { explainFailure } = await import('./start-failure.js');
  await bootstrap().catch((error: unknown) => {
    for (const line of explainFailure(error)) console.error(line);
    process.exit(1);
  });
}
