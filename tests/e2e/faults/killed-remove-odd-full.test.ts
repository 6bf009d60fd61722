import { describeKills } from "../harness/kill-chain";

describeKills("remove", "odd");
