/** As `npm start`, the image and the unit have it: without it, V8 takes memory that the service in production does not take. */
export const YOUNG_GENERATION = '--max-semi-space-size=16';
