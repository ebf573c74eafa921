import { Module } from '@nestjs/common';
import { FeedController } from './feed.controller.js';
import { FeedPoller } from './feed-poller.js';
import { FeedService } from './feed.service.js';
import { FeedModule } from './feed.module.js';
import { HeldRequests } from './long-polls.js';

/** Numbers without being asked, and answers services; commands leave that to the service. */
@Module({
  imports: [FeedModule],
  controllers: [FeedController],
  providers: [FeedPoller, FeedService, HeldRequests],
})
export class FeedServerModule {}
