import { Flights } from '../flights.ts';
import { familyTools } from './families.ts';
import { fleetFlightTools } from './fleet-flights.ts';
import { flightTools } from './flight.ts';
import { flightLogTools } from './flight-logs.ts';
import { flightMoveTools } from './flight-move.ts';
import { flightPlanTools } from './flight-plan.ts';
import { watchTools } from './flight-watch.ts';
import { logTools } from './logs.ts';
import { missionTools } from './mission.ts';
import { nodeTools } from './node.ts';
import { paramTools } from './params.ts';
import { payloadTools } from './payload.ts';
import { statusTools } from './status.ts';
import { classOf, type Tool } from './tool.ts';
import { videoTools } from './video.ts';
import { visionTools } from './vision.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Every tool by its name; the same in every mode. @throws Error for a duplicate name, or a route that is not in the table */
export function compileCatalogue(): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  const flights = new Flights();
  for (const tool of [
    ...statusTools,
    ...flightTools,
    ...flightMoveTools,
    ...flightPlanTools(flights),
    ...watchTools,
    ...missionTools,
    ...payloadTools,
    ...paramTools,
    ...nodeTools,
    ...logTools,
    ...videoTools,
    ...visionTools,
    ...flightLogTools,
    ...fleetFlightTools,
    ...familyTools,
  ]) {
    if (!NAME.test(tool.name) || tools.has(tool.name))
      throw new Error(`duplicate or invalid tool name: ${tool.name}`);
    if (classOf(tool) === 'destructive' && tool.phrase === undefined)
      throw new Error(`${tool.name} is destructive and has no words`);
    tools.set(tool.name, commands(tool) ? interrupting(tool, flights) : tool);
  }
  return new Map([...tools].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether it decides where the vehicle goes: a plan that is flown does not go on beside it. */
function commands({ name, routes }: Tool): boolean {
  const goes = name.startsWith('flight_') || name.startsWith('mission_') || name === 'autopilot_reboot';
  return goes && routes.includes('command.post') && name !== 'flight_run' && name !== 'flight_speed';
}

function interrupting(tool: Tool, flights: Flights): Tool {
  return {
    ...tool,
    run: async (context) => {
      if (context.isRehearsal !== true) flights.interrupt(context.node.target.id, tool.name);
      return tool.run(context);
    },
  };
}
