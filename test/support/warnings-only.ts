import { Logger } from '@nestjs/common';

// What runs in the test's own process, such as its migrations, would fill the summary.
Logger.overrideLogger(['fatal', 'error', 'warn']);
