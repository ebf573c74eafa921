const OLDEST_NODE = 26;

// Imported only after the check: an older Node cannot even load what the service imports.
if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  console.error(
    `Node ${OLDEST_NODE} or newer is needed, this is ${process.versions.node}. Start with: npm start`,
  );
  process.exitCode = 1;
} else {
  const { bootstrap } = await import('./bootstrap.js');
  const { explainFailure } = await import('./start-failure.js');
  await bootstrap().catch((error: unknown) => {
    for (const line of explainFailure(error)) console.error(line);
    process.exit(1);
  });
}
