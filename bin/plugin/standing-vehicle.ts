import type { Telemetry, Vehicle } from '../../residual/app/plugins/ipc/vehicle.ts';

const EVERY_MS = 100;

/** A vehicle that does nothing, for an extension that is only tried. @param telemetry of all times */
export function standingVehicle(telemetry: Telemetry): Vehicle {
  return {
    follow(listener) {
      const timer = setInterval(() => listener(() => telemetry), EVERY_MS);
      return () => clearInterval(timer);
    },
    mission: async () => notHere('mission.read'),
    extend: async () => Promise.resolve(),
  };
}

/** @throws Error always */
export async function notHere(what: string): Promise<never> {
  return Promise.reject(new Error(`not_available: ${what} needs a node`));
}
