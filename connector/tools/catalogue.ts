import { familyTools } from './families.ts';
import { fleetFlightTools } from './fleet-flights.ts';
import { flightTools } from './flight.ts';
import { flightLogTools } from './flight-logs.ts';
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
  for (const tool of [
    ...statusTools,
    ...flightTools,
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
    tools.set(tool.name, tool);
  }
  return new Map([...tools].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
