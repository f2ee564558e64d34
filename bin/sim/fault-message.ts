/** What a test may send to a running `svc-sim` over the node IPC channel. A member that is absent leaves its fault as it is. */
export interface FaultMessage {
  readonly type: 'fault';
  /** Drop the next N COMMAND_ACKs. */
  readonly loseAcks?: number;
  /** Milliseconds (wall clock) between a command and its final COMMAND_ACK. */
  readonly ackDelay?: number;
  /** Send IN_PROGRESS at once and the final ack after `ackDelay` (300 ms where that is 0). */
  readonly inProgress?: boolean;
  /** Share 0..1 of the PARAM_VALUEs of a list download that is dropped. */
  readonly dropParams?: number;
  /** Send nothing while TCP stays open. Nothing of the silent time is sent later. */
  readonly silence?: boolean;
  /** Chance 0..1 per frame of random bytes before it, among them false start bytes. */
  readonly garbage?: number;
  /** No SIMSTATE, no SIM_* parameters: act as a real vehicle. */
  readonly notSimulated?: boolean;
  /** A pre-arm check that fails with this text; an empty text ends it. */
  readonly armRefuse?: string;
  /** After every eighth frame a valid frame of a message id that no dialect knows. */
  readonly unknownIds?: boolean;
  /** Power cycle: closes the client, forgets everything but the parameters. */
  readonly reboot?: true;
}
