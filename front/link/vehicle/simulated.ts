import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Part } from '../part.ts';
import type { VehicleMessages } from './vehicle-messages.ts';

const MAX_EVIDENCE = 8;

/**
 * Evidence that the vehicle is simulated (docs/contract/flight.md): parameters `SIM_*`, messages SIMSTATE and SIM_STATE. Without
 * evidence it is a real vehicle. The evidence is dropped whenever another vehicle may be connected.
 */
export class SimulatedEvidence implements Part {
  #evidence: readonly string[] = [];

  constructor(messages: VehicleMessages) {
    messages.on('param', ({ name }) => this.parameter(name));
  }

  get list(): readonly string[] {
    return this.#evidence;
  }

  onOther(id: number): void {
    if (id === MSG.SIMSTATE) this.#add('message SIMSTATE');
    else if (id === MSG.SIM_STATE) this.#add('message SIM_STATE');
  }

  parameter(name: string): void {
    if (name.startsWith('SIM_')) this.#add(`parameter ${name}`);
  }

  /** Another vehicle may be connected; real evidence comes again. */
  onSession(): void {
    this.#evidence = [];
  }

  #add(text: string): void {
    if (this.#evidence.length >= MAX_EVIDENCE || this.#evidence.includes(text)) return;
    this.#evidence = [...this.#evidence, text];
  }
}
