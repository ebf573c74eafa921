import { createPool, type Pool, type PoolConnection, type PoolOptions } from 'mysql2';

const ACQUIRE_TIMEOUT_MS = 3000;

type ConnectionCallback = (error: NodeJS.ErrnoException | null, connection?: PoolConnection) => void;

/** What TypeORM's MySQL driver calls of a pool. */
interface TypeOrmPool {
  getConnection(callback: ConnectionCallback): void;
  end(callback: (error?: Error | null) => void): void;
}

/**
 * The `driver` that TypeORM opens its pool with: mysql2's own pool, plus what it lacks. Every new connection
 * gets the session settings before its first statement, and nobody waits for a free connection longer than
 * three seconds.
 */
export function mysqlDriver(sessionSettings: string): { createPool(options: PoolOptions): TypeOrmPool } {
  return {
    createPool(options) {
      const pool = createPool(options);
      pool.on('connection', (connection) => {
        connection.query(sessionSettings, (error) => {
          if (error) connection.destroy();
        });
      });
      return {
        getConnection: (callback) => acquire(pool, callback),
        end: (callback) => pool.end(callback),
      };
    },
  };
}

function acquire(pool: Pool, callback: ConnectionCallback): void {
  let waiting = true;
  const timer = setTimeout(() => {
    waiting = false;
    callback(
      Object.assign(new Error('No database connection became free in time'), {
        code: 'POOL_ACQUIRE_TIMEOUT',
      }),
    );
  }, ACQUIRE_TIMEOUT_MS);

  pool.getConnection((error, connection) => {
    clearTimeout(timer);
    if (waiting) callback(error, connection);
    else if (!error) connection.release();
  });
}
