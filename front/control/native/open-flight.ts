import { listSerialPorts } from '../../../shared/flight/serial-ports.ts';
import type { Base } from '../node/base.ts';
import { ParamMetadata } from '../param-metadata/param-metadata.ts';
import { KeptPlan } from '../stores/kept-plan.ts';
import { flightHandlers } from './flight.ts';
import { flightLogHandlers } from './flight-logs.ts';
import { missionHandlers } from './missions.ts';

/** The handlers about the vehicle. */
export function openFlight({ vehicle, paths, devDir, sysDir, log }: Base) {
  return {
    ...flightHandlers(
      vehicle,
      async () => listSerialPorts(devDir, sysDir),
      new ParamMetadata({ fromVehicles: paths.componentMetadata, fromOperator: paths.paramMetadata, log }),
    ),
    ...flightLogHandlers(vehicle, paths.flightLogs),
    ...missionHandlers(vehicle, new KeptPlan(paths.missionPlan, log)),
  };
}
